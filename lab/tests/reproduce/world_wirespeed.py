# SPDX-License-Identifier: Apache-2.0
"""Made-up runs for the judges of the wirespeed paper, in a World as its paper has it or upside down."""


def wirespeed(world):
    """As the paper has it: shape: handled and lossless Mpps, CPU. 1I-2Q-2P takes all."""
    paper = {
        "1I-1Q-1P": (7.9, 4.0, 0.9),
        "1I-2Q-1P": (2.1, 2.1, 1.3),
        "1I-2Q-1P-chunk": (8.0, 8.0, 1.3),
        "1I-2Q-2P": (14.2, 14.2, 1.2),
        "2I-1Q-2P": (15.2, 8.0, 2.4),
        "1I-1Q-inline": (5.0, 2.0, 1.0),
        "1I-2Q-inline": (6.0, 2.0, 1.0),
        "2I-1Q-inline": (7.0, 3.0, 2.0),
    }
    worst = [crew(world, shape, *figures, loses=shape != "1I-2Q-2P") for shape, figures in paper.items()]
    easy = [crew(world, shape, *figures, loses=False) for shape, figures in paper.items()]
    capped = [
        crew(
            world,
            shape,
            handled,
            world.either(cap if shape == "1I-2Q-2P" else 25 if cap > 64 else 2, 0.1),
            cpu,
            loses=False,
            cap=cap,
        )
        for shape, (handled, _, cpu) in paper.items()
        for cap in (64, 500, 1500)
    ]
    return {
        "worst-case": worst,
        "worst-case-any": worst,
        "worst-case-lossless": easy,
        "headers": easy,
        "headers-mix": easy,
        "headers-capped": capped,
        "off-line": [{"row": "NaiveBayes", **world.share("kfps", world.either(20, 2000))}],
    }


def crew(world, shape, handled, lossless, cpu, loses, cap=0):
    """A row of `bench classify`; upside down, one thread has what the others have in the paper, and who loses
    nothing loses."""
    is_inline = "inline" in shape
    handled, lossless = (
        (14.2 - handled / 4, 10 - lossless / 4) if world.upside_down and not cap else (handled, lossless)
    )
    lost = 0.1 if loses != world.upside_down else 0.0
    return {
        "row": shape,
        "shape": shape,
        "interfaces": 2 if shape.startswith("2I") else 1,
        "offered_mpps": 28.4 if shape.startswith("2I") else 14.2,
        "line_mpps": 1.6,
        "cap": cap,
        "threads": {"1I-1Q-1P": 3, "1I-2Q-1P": 5, "1I-2Q-1P-chunk": 5}.get(shape, 2 if is_inline else 6),
        "affinity": "any",
        "traffic": "made",
        "source_ns": 4.0,
        "classified_mpps": world.either(1, 0.5) * handled,
        "classified_kfps": world.either(200, 50) * handled,
        "sniffing_cpu": None if is_inline else 0.3,
        "handling_cpu": 0.4,
        "classifying_cpu": None if is_inline else 0.2,
        "sniffing_ns": 20.0,
        "handling_ns": 50.0,
        "cpu_ns": 100.0,
        **world.share("lost_share", lost),
        "classifying_ns": world.either(10.0, 90.0),
        "memory_mb": 200.0 if "2P" in shape and not world.upside_down else 100.0,
        **world.share("sniffed_mpps", handled + world.either(0.5, -0.5)),
        **world.share("handled_mpps", handled),
        **world.share("cpu", world.either(cpu, 10 - cpu)),
        **world.share("lossless_mpps", lossless),
        **world.share("lossless_gbps", lossless),
    }
