package kernelmill

import "testing"

func TestTextsOfTheLibraryNameOwnFunctions(t *testing.T) {
	for text, wanted := range map[string]string{
		"":                                     "",
		"km_launch_submit: no":                 "no",
		"km_launch_submit":                     "km_launch_submit",
		"call km_context_reset":                "call Context.Reset",
		"km_x: km_tune_run, km_context_reset.": "Tuner.Run, Context.Reset.",
		"xkm_context_reset km_context_resetX":  "xkm_context_reset km_context_resetX",
		"km_ 'km_program_log'":                 "km_ 'Program.Log'",
	} {
		if found := withOwnNames(text); found != wanted {
			t.Errorf("%q became %q", text, found)
		}
	}
}
