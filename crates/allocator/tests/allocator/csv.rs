//! What is read, and what is refused with its line.

use tofu_allocator::{Buffer, read_csv};

#[test]
fn columns_may_stand_in_any_order() {
    let text = "size,id,upper,offset,lower\r\n4, b1 ,3,,0\r\n\r\n0,b2,9,7,3\r\n";
    let expected = [("b1", 0..3, 4), ("b2", 3..9, 0)];
    let expected = expected.map(|(name, live, bytes)| (name.to_owned(), Buffer::new(live, bytes)));
    assert_eq!(read_csv(text).unwrap(), expected);
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let told = |text: &str| read_csv(text).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    let rows = "id,lower,upper,size\na,0,3,-4\na,5,5,1\nb,0,1\nb,0,1,99999999999999999999\n,0,1,2\nc,x,1,2\nd,0,1,2\nd,0,1,2\n\
                e,0,1,9223372036854775807\n";
    let expected = [
        "2: size `-4` is negative",
        "3: lower 5 is not below upper 5",
        "4: 3 entries, where the header has 4 columns",
        "5: size `99999999999999999999` is too large",
        "6: the id is empty",
        "7: lower `x` is no whole number",
        "9: `d` is on line 8 already",
        "10: the sizes up to here are too large to be added up",
    ];
    assert_eq!(told(rows), expected);
    assert_eq!(told(""), ["1: no header; `id,lower,upper,size` is expected"]);
    assert_eq!(
        told("id,lower,upper\n"),
        ["1: no column `size`; the header `id,lower,upper,size` is expected"]
    );
    assert_eq!(told("id,id,lower,upper,size\n"), ["1: the column `id` is there twice"]);
    assert_eq!(told("id,lower,upper,size,color\n"), ["1: unknown column `color`"]);
}
