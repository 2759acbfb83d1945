"""The metered gate to every language model. Nothing here loads a provider or LangChain before a model is opened."""
