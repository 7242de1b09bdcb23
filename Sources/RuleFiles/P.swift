enum PlaceholderRuleFiles {}
