# SPDX-License-Identifier: Apache-2.0
"""The SOSR paper: its figures and tables."""

from measurement_judges import figure_1a, figure_1b, figure_1c, figure_2_heap, figure_2a, figure_2a_sizes, figure_2bc
from measurement_runs import RUNS
from measurement_sharing import figure_8, figure_9a, figure_9b, merging, tasks_beside
from measurement_skews import figure_3a, figure_3b, figure_3c
from measurement_tasks import figure_6, figure_7, heap_of_changes, task_by_accuracy, task_by_size
from paper import Figure, Paper

CITATION = (
    "Alipourfard et al., *A comparison of performance and accuracy of measurement algorithms in software*, SOSR 2018"
)
INTRO = (
    "The traffic is generated. Flows follow Zipf's law with the skew that a run names, with 131,072, 1 Mi or more "
    "flows. The paper plays a minute"
    " of a backbone trace (CAIDA, 27 million packets, about a million flows, skew 1.1).",
    "",
    "- There is no network card. Times are ns of CPU time a packet, from the flow's number to the count.",
    "- Cycles are of the time stamp counter, for a batch of 64 packets, divided by its packets, as in the paper. The "
    "p99 is over the batches. "
    "Some rows have batches of 32 and say so.",
    "- Memory is the most that a table ever uses.",
    "- Accuracy is for one epoch of 2 million packets.",
)
FIGURES = (
    Figure(
        "table 1",
        "A list of published solutions for six measurement tasks: sketches, heaps or trees, and hash tables.",
        not_here="a list of the literature: it states nothing that is measured",
    ),
    Figure(
        "1a",
        "Linear probing has a lower mean and tail than cuckoo hashing at every size. With one entry a bucket the mean "
        "is 10 to 30 % higher "
        "and the tail 13 to 40 %. Four entries a bucket improve the tail.",
        ("sizes",),
        figure_1a,
        plot="sizes",
    ),
    Figure(
        "1b",
        "The count array costs less than Count-Min with three rows at every size, mean and tail.",
        ("sizes",),
        figure_1b,
        plot="sizes",
    ),
    Figure(
        "1c",
        "At 98 % precision the count array's p99 is below Count-Min's (45 to 64 ns).",
        ("accuracy",),
        figure_1c,
        plot="accuracy",
    ),
    Figure(
        "2a",
        "The heap costs most at every size. The count array is 28 % faster than linear probing and 142 % faster than "
        "the heap. "
        "The first two converge with size.",
        ("data-sizes",),
        figure_2a,
        plot="data-sizes",
    ),
    Figure(
        "2a, with size",
        "With larger data sizes the tail increases for the count array and linear, and decreases for the heap.",
        ("data-sizes", "small-sizes"),
        figure_2a_sizes,
    ),
    Figure(
        "2b",
        "Linear probing is exact with a p99 of 53 ns. A count array reaches a precision of 99.5 % with 46 ns. The heap "
        "has the highest latency and "
        "the worst precision.",
        ("accuracy", "sizes"),
        figure_2bc("precision"),
        plot="accuracy",
    ),
    Figure("2c", "The same as 2b for recall: 100 and 96.5 %.", ("accuracy", "sizes"), figure_2bc("recall")),
    Figure("2, the heap", "A heap is never a good choice in software.", ("heap",), figure_2_heap, plot="heap"),
    Figure(
        "3a",
        "In tables beyond the last-level cache, less skew costs Count-Min's tail more than the count array's.",
        ("skew",),
        figure_3a,
        plot="skew",
    ),
    Figure(
        "3b",
        "In such tables the heap's tail grows steeply with less skew. Linear probing's tail is only slightly above the "
        "count array's.",
        ("skew",),
        figure_3b,
        plot="skew",
    ),
    Figure(
        "3c",
        "Within a cache, skew makes no difference. Beyond it, less skew costs more.",
        ("array",),
        figure_3c,
        plot="array",
    ),
    Figure(
        "4a",
        "Superspreaders: the count array has the lowest latency, and linear is the fastest hash table.",
        ("superspreader",),
        task_by_size("superspreader"),
        plot="superspreader",
    ),
    Figure(
        "4b",
        "Superspreaders: the count array reaches a precision of 97 % at lower cost than linear probing, which reaches "
        "99 % precision and 100 % "
        "recall.",
        ("superspreader",),
        task_by_accuracy(
            "superspreader",
            0.97,
            0.99,
            "a Bloom filter may take a new destination for an old one. This lowers the recall and leaves the "
            "precision; the paper prints the two in reverse. Its count array reports flows by a key, ours reports "
            "every flow of a place",
        ),
    ),
    Figure(
        "5a",
        "Changes by EWMA: the count array has the lowest latency, and linear is the fastest hash table.",
        ("change",),
        task_by_size("change"),
        plot="change",
    ),
    Figure(
        "5b",
        "Changes: the count array reaches a precision of 99 % at lower cost than linear probing, which is exact.",
        ("change",),
        task_by_accuracy(
            "change",
            0.99,
            1,
            "the paper does not give its smoothing and threshold: ours are RFC 6298's, and four deviations",
        ),
    ),
    Figure("5b, the heap", "A heap also finds all changes, and takes 80 to 100 ns more.", ("change",), heap_of_changes),
    Figure(
        "6",
        "The tails of count array, linear probing and heap grow with the size of an entry.",
        ("values",),
        figure_6,
        plot="values",
    ),
    Figure(
        "7a",
        "With low skew, a pointer to the value lowers the tail for large values (by 30 % at 60 bytes) and raises it "
        "for small ones. With high skew it"
        " costs about 5 ns.",
        ("values",),
        figure_7("p99_cycles", "p99"),
        plot="values",
    ),
    Figure(
        "7b",
        "The same as 7a for the mean. (The text describes only part (a), the tail.)",
        ("values",),
        figure_7("ns", "mean"),
    ),
    Figure(
        "8",
        "Separate count arrays cost less than one shared by compare-and-swap at every size (12 ns at 32 KB). This "
        "holds for mean and tail.",
        ("contention",),
        figure_8,
        plot="contention",
    ),
    Figure(
        "section 5.1",
        "Merging separate tables at the end of an epoch has little overhead, and costs less than sharing one table.",
        ("contention",),
        merging,
    ),
    Figure(
        "9a",
        "A neighbour slows others only if it uses more than the last-level cache. The count array stays fastest.",
        ("footprint",),
        figure_9a,
        plot="footprint",
    ),
    Figure(
        "9b",
        "Each additional neighbour that uses memory costs more (2.9 times with seven). The count array stays fastest.",
        ("neighbours",),
        figure_9b,
        plot="neighbours",
    ),
    Figure(
        "neighbours of the lab",
        "The count array stays fastest beside a neighbour that fills the last-level cache, and beside one that copies "
        "memory.",
        ("beside",),
        tasks_beside,
        plot="beside",
        ours=True,
    ),
)

PAPER = Paper(
    "measurement",
    CITATION,
    INTRO,
    FIGURES,
    RUNS,
    title="Measurement algorithms in software",
    main=("1a", "1c", "2a", "8", "9a"),
)
