//! Benchmarks parsing, printing and checking of data types: the cost of every attribute of every resource.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use devgate_schemas::{DataType, Value};
use serde_json::json;

/// Types from small to large, each with a matching and a non-matching value.
fn samples() -> Vec<(&'static str, &'static str, Value, Value)> {
    let vlan = "Struct[{ name => String[1, 32], id => Integer[1, 4094], \
                Optional[ports] => Array[Pattern[/^[a-z]+\\d+(\\/\\d+)*$/]], \
                ensure => Enum[present, absent] }]";
    let ports: Vec<String> = (0..48).map(|port| format!("eth1/{port}")).collect();
    let whole = json!({ "name": "users", "id": 100, "ports": ports, "ensure": "present" });
    let wrong = json!({ "name": "users", "id": 5000, "ports": ["?"], "ensure": "there" });
    vec![
        ("string", "String[1]", Value::from("eth0"), Value::from(1)),
        (
            "optional",
            "Optional[Variant[Integer[0, 4095], Boolean[false]]]",
            Value::from(false),
            Value::from(5000),
        ),
        ("vlan", vlan, Value::from(whole), Value::from(wrong)),
    ]
}

fn parsing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for (name, text, ..) in samples() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| DataType::parse(black_box(text)))
        });
    }
    group.finish();
}

fn checking(criterion: &mut Criterion) {
    for (group, right) in [
        ("check a right value", true),
        ("check a wrong value", false),
    ] {
        let mut group = criterion.benchmark_group(group);
        for (name, text, of_it, not_of_it) in samples() {
            let data_type = DataType::parse(text).expect("a type");
            let value = if right { of_it } else { not_of_it };
            assert_eq!(data_type.check(&value).is_ok(), right, "{text}");
            group.bench_function(name, |bencher| {
                bencher.iter(|| data_type.check(black_box(&value)))
            });
        }
        group.finish();
    }
}

fn printing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("print");
    for (name, text, ..) in samples() {
        let data_type = DataType::parse(text).expect("a type");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(&data_type).to_string())
        });
    }
    group.finish();
}

criterion_group!(benches, parsing, checking, printing);
criterion_main!(benches);
