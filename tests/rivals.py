# SPDX-License-Identifier: Apache-2.0
"""Which program a test runs: the product has one form of what the lab lets users choose."""

LAB_OPTIONS = {"--table", "--hash", "--classifiers"}
LAB_VALUES = {"cooperative", "mona", "mona-adapt"}


def program_for(parshall, arguments):
    """Returns the program that has all these arguments of watch or classify."""
    words = {str(word) for word in arguments}
    return parshall + "-lab" if words & (LAB_OPTIONS | LAB_VALUES) else parshall
