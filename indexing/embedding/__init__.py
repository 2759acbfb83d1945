"""Text to the two lanes of the index.

An `Encoder` is a neural pass (bge-m3, any sentence-transformers model, either of them behind the cache); an
`IndexEmbedder` makes both lanes of it, with BM25 where the pass has no lexical weights. `open_embedder` builds one.
"""
