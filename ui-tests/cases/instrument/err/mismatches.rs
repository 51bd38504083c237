#[tokio_statemap::instrument]
async fn tail() -> u8 {
    "text"
}

#[tokio_statemap::instrument]
async fn early(a: bool) -> u8 {
    if a {
        return "text";
    }
    1
}

#[tokio_statemap::instrument]
async fn no_tail(a: u8) -> u8 {
    drop(a);
}

#[tokio_statemap::instrument]
async fn empty() -> u8 {}

#[tokio_statemap::instrument]
async fn semicolon() -> Result<(), ()> {
    Ok(());
}

#[tokio_statemap::instrument]
async fn not_unit(a: u8) {
    a
}

#[tokio_statemap::instrument]
async fn no_else(a: u8) -> u8 {
    if a == 1 { 2 }
}

#[tokio_statemap::instrument]
async fn branches(a: u8) -> u8 {
    if a == 1 { 2 } else { "text" }
}

#[tokio_statemap::instrument]
async fn inside((a, mut b): (u8, u8)) -> u8 {
    b += "text";
    let c: String = a;
    b
}

#[tokio_statemap::instrument]
async fn ok_type() -> Result<u8, String> {
    Ok("text")
}

#[tokio_statemap::instrument]
async fn impl_type() -> impl std::fmt::Display {
    vec![1]
}

#[tokio_statemap::instrument]
async fn nested_impl_type() -> Result<impl std::fmt::Display, u8> {
    if false {
        return Err("text");
    }
    Ok(1)
}

fn main() {}
