#!/x
/* a /* b */ c */ // d
'a' 'b '\'' b'x' r#"q"# br##"x"## c"y" 1..2 1.5e-3f32 0xFF_u8 r#fn 'r#a 1.max é "\""
