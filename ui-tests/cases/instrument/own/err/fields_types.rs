struct Plain;
#[derive(Clone)]
struct OnlyClone;
#[derive(Clone, Debug)]
struct NotSend(std::rc::Rc<u8>);

#[tokio_statemap::instrument(fields = "{plain}")]
async fn not_clone(plain: Plain) {}

#[tokio_statemap::instrument(fields = "{only_clone}")]
async fn not_display(only_clone: OnlyClone) {}

#[tokio_statemap::instrument(fields = "{not_send:?}")]
async fn not_send(not_send: NotSend) {}

#[tokio_statemap::instrument(fields = "{generic}")]
async fn not_static<T: Clone + std::fmt::Display + Send + Sync>(generic: T) {}

#[tokio_statemap::instrument(fields = "{borrowed:?}")]
async fn borrowed(borrowed: Option<&str>) {}

#[tokio_statemap::instrument(fields = "{number:no}")]
async fn no_such_format(number: u8) {}

fn main() {}
