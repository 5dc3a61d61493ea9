package responses

import "backstop/wire/internal/intake"

// inputSize estimates the input tokens of a body.
func inputSize(h intake.Head) int {
	return intake.Size(sizeKind, h["tools"], h["instructions"], h["input"])
}

// sizeKind says what a member of a message is for its size.
func sizeKind(name string) intake.Kind {
	switch name {
	case "image_url", "file_data", "file_url", "file_id", "input_audio":
		return intake.Part
	case "role", "type", "id", "call_id", "status", "encrypted_content", "detail", "filename":
		return intake.Aside
	}
	return intake.Text
}
