//! Random transactions against a model.
