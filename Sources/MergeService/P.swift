enum PlaceholderMergeService {}
