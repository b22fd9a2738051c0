use treenail::tools;

struct Adder;

fn main() {
    tools![Adder];
}
