macro_rules! program {
    ($flavor:literal, $name:ident, $body:block) => {
        #[tokio::main(flavor = $flavor)]
        async fn $name() $body
    };
}

program!("current_thread", main, { println!("hello") });
