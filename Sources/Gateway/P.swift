enum PlaceholderGateway {}
