extension String {
    /// The text as an SQL literal. Bound values are better, but a query through the store binds none.
    var sqlLiteral: String {
        "'" + replacing("'", with: "''") + "'"
    }
}
