#[tokio_statemap::instrument]
async fn unknown_types(a: Missing) -> AlsoMissing {
    missing(a)
}

#[tokio_statemap::instrument]
async fn unknown_names(a: u8, _: u8) -> u8 {
    a.missing() + b
}

#[tokio_statemap::instrument]
async fn needs_annotation() {
    let list = Vec::new();
}

struct Thing;

impl Thing {
    #[tokio_statemap::instrument]
    async fn no_self() -> u8 {
        self.0
    }

    #[tokio_statemap::instrument]
    async fn no_field(&self) -> u8 {
        self.missing
    }
}

trait Trait {
    async fn method(&self, a: u8) -> u8;
}

impl Trait for Thing {
    #[tokio_statemap::instrument]
    async fn method(&self, a: u16) -> u8 {
        1
    }
}

fn main() {}
