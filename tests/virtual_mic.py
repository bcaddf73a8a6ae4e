"""A microphone without a sound card: PulseAudio in user space, whose sink "mic" is what the microphone hears.

make virtual-mic                    holds one until Ctrl-C and prints the environment that programs need to hear it
make virtual-mic FILE='talk.wav'    … and plays the file into it
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ASOUND = """
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.headset { type pulse device "headset.monitor" }
"""


class VirtualMicrophone:
    """One sound server of our own, with one microphone in it that can be pulled out and plugged in again."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mic"))  # short: the name of a socket has at most 107 bytes
        (self._folder / "asound.conf").write_text(ASOUND)
        self.env = {
            "ALSA_CONFIG_PATH": str(self._folder / "asound.conf"),
            "PULSE_SERVER": f"unix:{self._folder}/native",
            "PULSE_RUNTIME_PATH": str(self._folder),
            "PULSE_STATE_PATH": str(self._folder),
            "PULSE_COOKIE": str(self._folder / "cookie"),
            "PULSE_LATENCY_MSEC": "30",  # else players stand still for 1.7 s
        }
        server = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--log-target=stderr", "--log-level=0"]
        server += ["-L", f"module-native-protocol-unix socket={self._folder}/native auth-anonymous=1"]
        self._server = subprocess.Popen(
            server, env=self._whole_env(), stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._wait_for_server()
        self.plug()

    def plug(self, name: str = "mic", rate: int = 48_000) -> None:
        """Plug a microphone in and make it the default one."""
        options = [
            f"sink_name={name}",
            f"rate={rate}",
            "channels=1",
            "norewinds=1",
            f"sink_properties=device.description={name}",
        ]
        self.control("load-module", "module-null-sink", *options)
        self.make_default(name)

    def make_default(self, name: str) -> None:
        self.control("set-default-source", f"{name}.monitor")

    def unplug(self) -> None:
        """Pull out every microphone there is."""
        self.control("unload-module", "module-null-sink")

    def play(self, file: Path, name: str = "mic") -> subprocess.Popen[bytes]:
        """Play a WAV file into the microphone; it goes on after this call."""
        return subprocess.Popen(["paplay", f"--device={name}", file], env=self._whole_env())

    def control(self, *words: str) -> str:
        return subprocess.check_output(["pactl", *words], env=self._whole_env(), text=True, timeout=20)

    def pause_server(self) -> None:
        """Let the sound server stand still: nobody gets a call or an error any more."""
        self._server.send_signal(signal.SIGSTOP)

    def resume_server(self) -> None:
        self._server.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _whole_env(self) -> dict[str, str]:
        return {**os.environ, **self.env}

    def _wait_for_server(self) -> None:
        for _ in range(100):
            if (
                subprocess.run(["pactl", "info"], env=self._whole_env(), capture_output=True, check=False).returncode
                == 0
            ):
                return
            time.sleep(0.05)
        raise RuntimeError("pulseaudio does not answer")


def _main() -> None:
    microphone = VirtualMicrophone()
    try:
        print("# A virtual microphone; it is there until Ctrl-C. In another terminal:", flush=True)
        for name, value in microphone.env.items():
            print(f"export {name}={shlex.quote(value)}", flush=True)
        print("# paplay --device=mic FILE.wav plays into it", flush=True)
        if file := os.environ.get("FILE"):
            microphone.play(Path(os.environ.get("STARTED_IN", "."), file)).wait()
        signal.pause()
    except KeyboardInterrupt:
        print()
    finally:
        microphone.close()


if __name__ == "__main__":
    _main()
