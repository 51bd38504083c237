use std::rc::Rc;

#[tokio_statemap::instrument]
async fn keeps(rc: Rc<u8>) {
    tokio::task::yield_now().await;
    drop(rc);
}

#[tokio_statemap::instrument]
async fn unused(_: Rc<u8>) {
    tokio::task::yield_now().await;
}

#[tokio_statemap::instrument]
async fn locks(mutex: &std::sync::Mutex<u8>) {
    let guard = mutex.lock().unwrap();
    tokio::task::yield_now().await;
    drop(guard);
}

#[tokio_statemap::instrument]
fn block() -> impl Future<Output = ()> {
    async {
        let rc = Rc::new(1);
        tokio::task::yield_now().await;
        drop(rc);
    }
}

fn is_send<T: Send>(_: T) {}

fn main() {
    is_send(keeps(Rc::new(1)));
    is_send(unused(Rc::new(1)));
    is_send(locks(&std::sync::Mutex::new(1)));
    is_send(block());
}
