"""Mail as providers bring it: raw MIME over HTTP. Each file knows how one of them proves itself."""
