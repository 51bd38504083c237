//! Futures that borrow their arguments.

struct Table {
    rows: Vec<String>,
}

impl Table {
    #[tokio_statemap::instrument]
    async fn first(&self) -> Option<&str> {
        tokio::task::yield_now().await;
        self.rows.first().map(|row| row.as_str())
    }

    #[tokio_statemap::instrument]
    async fn add(&mut self, row: &str) -> &mut String {
        self.rows.push(row.to_owned());
        self.rows.last_mut().unwrap()
    }

    #[tokio_statemap::instrument]
    async fn either<'a>(&'a self, other: &'a str, _unused: &str) -> &'a str {
        self.first().await.unwrap_or(other)
    }
}

#[tokio_statemap::instrument]
async fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() > b.len() { a } else { b }
}

#[tokio_statemap::instrument]
async fn elided(a: &str) -> impl Iterator<Item = char> + '_ {
    a.chars().rev()
}

#[tokio_statemap::instrument]
async fn fill<'a, 'b: 'a>(into: &mut Vec<&'a str>, from: &'b [String]) {
    for text in from {
        into.push(text);
        tokio::task::yield_now().await;
    }
}

#[tokio_statemap::instrument]
async fn outlives<'a>(value: &'a mut u8, _other: &u8) -> &'a u8 {
    *value += 1;
    value
}

#[tokio_statemap::instrument(fields = "{by}")]
async fn reborrows(value: &mut u8, by: u8) {
    *value += by;
    if by > 0 {
        Box::pin(reborrows(value, by - 1)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut table = Table { rows: Vec::new() };
    table.add("a").await.push('b');
    println!("{:?} {}", table.first().await, table.either("c", &String::new()).await);
    let longer = {
        let unrelated = String::from("x");
        longest("aa", if unrelated.is_empty() { "a" } else { "bbb" }).await
    };
    println!("{longer} {}", elided("abc").await.collect::<String>());
    let mut into = Vec::new();
    fill(&mut into, &table.rows).await;
    println!("{into:?}");
    let mut value = 1;
    let result = {
        let other = 5;
        outlives(&mut value, &other).await
    };
    println!("{result}");
    reborrows(&mut value, 3).await;
    println!("{value}");
}
