enum PlaceholderMergeWire {}
