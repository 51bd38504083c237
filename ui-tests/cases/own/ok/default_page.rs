//@ writes: own-ok-2024-bins-own-ok-default_page.statemap.html: </html>
#[tokio_statemap::main]
async fn main() {}
