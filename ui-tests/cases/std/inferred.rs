// Lines that compile as long as nobody but std implements its traits for its types.
#[tokio::main]
async fn main() {
    let buf: Vec<u8> = Vec::new();
    assert_eq!(buf, []);
    assert_eq!(&buf, &[]);
    assert_eq!(buf[..], []);
    assert_eq!(*buf.as_slice(), []);
    assert_ne!(vec![1_u8], []);
    assert_eq!(Some(&buf[..]), Some(&[][..]));

    let words: Vec<&str> = Vec::new();
    assert_eq!(words, [] as [&str; 0]);
    let counts: Vec<u64> = Vec::new();
    assert_eq!(counts, []);
    let signs: Vec<bool> = Vec::new();
    assert_eq!(signs, []);
    let shares: Vec<f64> = Vec::new();
    assert_eq!(shares, []);

    assert!(7_u8 == "7".parse().unwrap());
    assert!(7_i64 <= "8".parse().unwrap());
    assert!(0.5_f64 < "0.7".parse().unwrap());
    assert!(true == "true".parse().unwrap());
    assert!(u64::default() == Default::default());
    assert!(String::new() == *Box::<str>::default());
    assert!('a' == b'a'.into());
    assert!(None::<u32> == Default::default());
    assert!(std::time::Duration::ZERO == Default::default());
    assert!(std::path::PathBuf::new() == *std::path::Path::new(""));

    let all: bool = [false].iter().all(|&flag| flag == Default::default());
    assert!(all);
    let mut text = String::from("a");
    text += &String::from("b");
    text.extend(["c"]);
    assert_eq!(text, "abc");
    assert_eq!(String::from_utf8_lossy(&buf), "");
    assert_eq!([1_u64, 2].iter().sum::<u64>(), 3);
}
