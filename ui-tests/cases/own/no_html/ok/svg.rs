//@ writes: statemap.svg: </svg>
#[tokio_statemap::main(svg = "statemap.svg")]
async fn main() {}
