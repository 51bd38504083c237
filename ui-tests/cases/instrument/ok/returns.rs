//! The values that a function returns on each of its paths.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::fmt::Debug;

#[tokio_statemap::instrument]
async fn question(text: &str) -> Result<u8, Box<dyn Error + Send + Sync>> {
    let number: u8 = text.parse()?;
    if number == 1 {
        return Err("one".into());
    }
    Ok(number)
}

#[tokio_statemap::instrument]
async fn option(list: &[u8]) -> Option<u8> {
    let first = list.first()?;
    Some(first + list.get(1)?)
}

#[tokio_statemap::instrument]
async fn unit(n: u8) {
    if n == 0 {
        return;
    }
    println!("{n}");
}

#[tokio_statemap::instrument]
async fn coerced(n: u8) -> Box<dyn Debug> {
    match n {
        0 => Box::new("text"),
        1 => return Box::new(n),
        _ => Box::new(()),
    }
}

#[tokio_statemap::instrument]
async fn inferred() -> HashMap<u8, Vec<String>> {
    let mut map = HashMap::new();
    map.entry(1).or_insert_with(Vec::new).push("a".into());
    map
}

#[tokio_statemap::instrument]
async fn into() -> String {
    "text".into()
}

#[tokio_statemap::instrument]
async fn functions() -> [fn(u8) -> u8; 2] {
    [|n| n + 1, |n| n + 2]
}

#[tokio_statemap::instrument]
async fn never(flag: bool) -> ! {
    if flag {
        println!("the end");
    }
    std::process::exit(0)
}

#[tokio_statemap::instrument]
async fn loops() -> u8 {
    loop {
        tokio::task::yield_now().await;
        break 5;
    }
}

#[tokio_statemap::instrument]
async fn unimplemented() -> Result<Infallible, String> {
    todo!()
}

#[tokio_statemap::instrument]
async fn nothing() {}

#[tokio_statemap::instrument]
async fn with_semicolon() -> u8 {
    return 5;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for text in ["1", "2", "x"] {
        println!("{:?}", question(text).await.map_err(|err| err.to_string()));
    }
    println!("{:?} {:?}", option(&[1, 2]).await, option(&[1]).await);
    unit(0).await;
    unit(1).await;
    for n in 0..3 {
        println!("{:?}", coerced(n).await);
    }
    println!("{:?} {}", inferred().await, into().await);
    println!("{:?}", functions().await.map(|function| function(1)));
    println!("{} {}", loops().await, with_semicolon().await);
    nothing().await;
    println!("{:?}", tokio::spawn(unimplemented()).await.unwrap_err().is_panic());
    never(true).await
}
