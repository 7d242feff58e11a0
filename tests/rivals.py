# SPDX-License-Identifier: Apache-2.0
"""What only parshall-lab has: the monitor's own choices run in the monitor's own program, the others in the lab's."""

OWN = {"--table": ("bucketed",), "--hash": ("aes",)}


def program_for(parshall, arguments):
    """The program that knows everything these arguments of watch or classify name."""
    words = [str(word) for word in arguments]
    rival = "cooperative" in words or "--classifiers" in words
    rival |= any(word in OWN and value not in OWN[word] for word, value in zip(words, words[1:]))
    return parshall + "-lab" if rival else parshall
