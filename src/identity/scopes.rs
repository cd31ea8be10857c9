//! Lists of scopes in the form they are stored in: a JSON array of names, in the contract's order.

use super::Scope;

/// The scopes' names as a JSON array.
pub fn to_json(scopes: &[Scope]) -> String {
    let names: Vec<_> = ordered(|scope| scopes.contains(&scope))
        .map(Scope::name)
        .collect();
    serde_json::json!(names).to_string()
}

/// Reads a stored JSON array; a name of a later version is passed over.
pub fn from_json(text: &str) -> Vec<Scope> {
    let names: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    ordered(|scope| names.iter().any(|name| name == scope.name())).collect()
}

/// The scopes for which `among` holds, in the contract's order.
pub fn ordered(among: impl Fn(Scope) -> bool) -> impl Iterator<Item = Scope> {
    Scope::ALL
        .iter()
        .copied()
        .filter(move |scope| among(*scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_come_back_each_once_and_in_order() {
        let stored = to_json(&[Scope::Trusted, Scope::ReportRead, Scope::Trusted]);
        assert_eq!(stored, r#"["REPORT_READ","TRUSTED"]"#);
        assert_eq!(from_json(&stored), [Scope::ReportRead, Scope::Trusted]);
        assert_eq!(from_json(r#"["OF_LATER"]"#), []);
    }
}
