//@ edition: 2021
#[tokio::main]
async fn main() -> Result<(), ()> {
    #[deprecated]
    fn old() {}
    old();
    async {};
    Result::<(), ()>::Ok(());
    return Ok(());
}
