"""The equipment of the arena: documents become an index, the index answers as a `Retriever`."""
