package gemini

import "backstop/wire/internal/intake"

// inputSize estimates the input tokens of a body.
func inputSize(h intake.Head) int {
	return intake.Size(sizeKind, h["tools"], h["systemInstruction"], h["contents"])
}

// sizeKind says what a member of a message is for its size.
func sizeKind(name string) intake.Kind {
	switch camel(name) {
	case "inlineData", "fileData":
		return intake.Part
	case "role", "id", "thoughtSignature", "mimeType":
		return intake.Aside
	}
	return intake.Text
}
