package anthropic

import "backstop/wire/internal/intake"

// inputSize estimates the input tokens of a body.
func inputSize(h intake.Head) int {
	return intake.Size(sizeKind, h["tools"], h["system"], h["messages"])
}

// sizeKind says what a member of a message is for its size.
func sizeKind(name string) intake.Kind {
	switch name {
	case "source":
		return intake.Part
	case "role", "type", "id", "tool_use_id", "signature", "cache_control", "data":
		return intake.Aside
	}
	return intake.Text
}
