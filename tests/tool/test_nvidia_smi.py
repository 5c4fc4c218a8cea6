"""nvidia-smi under `kernelmill exec`: the queries by which programs look at devices."""

import os
import re
import subprocess
import unittest

from tool import TOOL


def smi(*words, devices=2):
    done = subprocess.run([TOOL, "exec", "--devices", str(devices), "--memory", "4G", "--",
                           "nvidia-smi", *words], capture_output=True, text=True, timeout=60,
                          check=False)  # fmt: skip
    return done.returncode, done.stdout


class NvidiaSmi(unittest.TestCase):
    def good(self, *words, **options):
        code, text = smi(*words, **options)
        self.assertEqual(code, 0, text)
        return text

    def test_devices_are_listed(self):
        lines = self.good("-L").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"^GPU 1: .+ \(UUID: GPU-[0-9a-f-]{36}\)$")
        self.assertEqual(self.good("--list-gpus", devices=1).count("\n"), 1)

    def test_fields_are_given_as_csv(self):
        fields = "--query-gpu=index,memory.total,compute_cap,driver_version,temperature.gpu"
        self.assertEqual(self.good(fields, "--format=csv").splitlines(),
                         ["index, memory.total [MiB], compute_cap, driver_version, temperature.gpu",
                          "0, 2048 MiB, 8.9, 580.00, [N/A]",
                          "1, 2048 MiB, 8.9, 580.00, [N/A]"])  # fmt: skip
        bare = self.good(fields, "--format=csv,noheader,nounits", "-i", "1")
        self.assertEqual(bare, "1, 2048, 8.9, 580.00, [N/A]\n")
        self.assertEqual(self.good(fields, "--format", "csv,noheader,nounits", "--id=1"), bare)

    def test_every_kind_of_field_has_a_value(self):
        text = self.good("--query-gpu=name,gpu_name,uuid,pci.bus_id,pstate,clocks.sm,count,"
                         "pcie.link.gen.max,pcie.link.width.current,utilization.gpu,memory.used,"
                         "memory.free,timestamp,clocks.max.sm,compute_mode,persistence_mode",
                         "--format=csv,noheader", devices=1)  # fmt: skip
        values = text.strip().split(", ")
        self.assertEqual(len(values), 16)
        self.assertNotIn("[N/A]", values)
        self.assertEqual(values[0], values[1])
        self.assertRegex(values[3], r"^[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.0$")

    def test_a_device_is_chosen_by_each_of_its_names(self):
        names = self.good("--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader", "-i", "1")
        for name in names.strip().split(", "):
            self.assertEqual(self.good("-L", "-i", name).count("\n"), 1)
        self.assertEqual(smi("-L", "-i", "7")[0], 6)

    def test_the_table_is_as_wide_as_nvidia_s(self):
        text = self.good()
        self.assertRegex(text, r"NVIDIA-SMI 580\.00 +Driver Version: 580\.00 +CUDA Version: 13\.")
        widths = {len(line) for line in text.splitlines() if line[:1] in ("|", "+")}
        self.assertEqual(widths, {91})
        self.assertEqual(len(re.findall(r"^\|   \d  ", text, re.M)), 2)
        self.assertIn("No running processes found", text)

    def test_details_name_the_essentials(self):
        text = self.good("-q")
        for line in ("Driver Version                            : 580.00",
                     "Attached GPUs                             : 2",
                     "        Total                             : 2048 MiB"):
            self.assertIn(line + "\n", text)

    def test_processes_are_asked_for(self):
        self.assertEqual(self.good("--query-compute-apps=pid,used_memory", "--format=csv"),
                         "pid, used_memory [MiB]\n")

    def test_mistakes_are_told(self):
        for words, text in ((("--query-gpu=odd", "--format=csv"), 'Field "odd" is not a valid'),
                            (("--query-gpu=name",), '"--format=" is missing'),
                            (("--query-gpu=name", "--format=xml"), "--format=xml is not"),
                            (("--odd",), "Option --odd is not recognized")):
            code, out = smi(*words)
            self.assertEqual(code, 2, out)
            self.assertIn(text, out)

    def test_help_needs_no_driver(self):
        folder = next(part for part in subprocess.run(
            [TOOL, "exec", "--", "sh", "-c", "echo $PATH"], capture_output=True, text=True,
            check=True).stdout.split(":") if part.endswith("/cuda/bin"))
        done = subprocess.run([os.path.join(folder, "nvidia-smi"), "--help"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--query-gpu", done.stdout)


if __name__ == "__main__":
    unittest.main()
