struct Pair {
    left: u8,
    right: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn sum(Pair { left, right }: Pair, (third, _): (u8, u8)) -> u8 {
    left + right + third
}

fn main() {
    println!("{}", sum(Pair { left: 1, right: 2 }, (3, 4)));
}
