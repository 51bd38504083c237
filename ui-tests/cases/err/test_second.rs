//@ test
#[tokio::test]
#[test]
async fn twice() {}

#[tokio::test]
#[core::prelude::v1::test]
async fn by_path() {}

#[tokio::test]
#[::std::prelude::rust_2021::test]
async fn by_absolute_path() {}
