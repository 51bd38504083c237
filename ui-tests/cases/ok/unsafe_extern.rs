#[tokio::main(flavor = "current_thread")]
async unsafe extern "C" fn run(number: u8) -> u8 {
    number + 1
}

fn main() {
    println!("{}", unsafe { run(1) });
}
