"""What the tests stand on: servers, clusters, heap twins, waiting."""
