struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        println!("{} dropped", self.0);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn work(_argument: Loud) -> Loud {
    let _local = Loud("local");
    let in_task = Loud("task");
    tokio::spawn(async move {
        let _in_task = in_task;
        std::future::pending::<()>().await;
    });
    tokio::task::yield_now().await;
    Loud("value")
}

fn main() {
    let _value = work(Loud("argument"));
    println!("returned");
}
