//@ writes: late.html: </html>
//@ writes: late.svg: </svg>
//@ writes: late.txt: ended before
//@ writes: none.html: </html>
//@ writes: none.svg: </svg>
// There is nothing to be seen: the pictures are empty, and complete.
#[tokio_statemap::main(start_after = "1h", html = "late.html", svg = "late.svg", report = "late.txt")]
async fn late() {}

#[tokio_statemap::main(trace = "none", html = "none.html", svg = "none.svg")]
async fn none() {}

fn main() {
    late();
    none();
}
