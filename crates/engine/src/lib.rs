//! One engine run to one loom-result/1.1 envelope.
