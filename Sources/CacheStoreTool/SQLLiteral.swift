extension String {
    /// The text as SQL writes it. Where a value can be bound, that is better; a query through the store binds none.
    var sqlLiteral: String {
        "'" + replacing("'", with: "''") + "'"
    }
}
