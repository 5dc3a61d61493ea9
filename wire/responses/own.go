package responses

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// ownThought begins the ids of reasoning items that were made here out of the
// reasoning of another dialect. Nobody can find them again, so they are taken
// out of a request before it goes to an upstream that serves this form itself,
// which would look for them.
const ownThought = "rs_backstop_"

// itemID is the id of an item that is made here: at most 64 characters, as the
// API takes them back, and the same for the same answer.
func itemID(kind, answer string, n int) string {
	return kind + wire.ToolID(answer) + "_" + strconv.Itoa(n)
}

// dropOwn takes reasoning items of ours out of a request.
func dropOwn(o *edit.Object) {
	input := o.Find("input")
	if input == nil || !input.Val.IsArray() || !strings.Contains(input.Val.Raw, ownThought) {
		return
	}
	list := input.Val.Array()
	gone := make([]bool, len(list))
	for i, item := range list {
		gone[i] = ours(item)
	}
	o.CutElements(list, gone)
}

func ours(item gjson.Result) bool {
	return item.Get("type").Str == "reasoning" && strings.HasPrefix(item.Get("id").Str, ownThought)
}
