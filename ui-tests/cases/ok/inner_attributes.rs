#[tokio::main]
async fn main() {
    #![allow(unused_variables)]
    //! Docs in the body.
    let unused = 1;
    println!("hello");
}
