from __future__ import annotations

import pytest

from docs.build.seed_systems import Ran, render

TABLE = "mode    n\n─────────\ndense  12\n\nGap: none\nGate passed\n"
PAGE = """\
Text.

<!-- run: arena show r
columns: n, mode | mode
parts: Gap
lines: Gate; Gap
-->
what stood here before
<!-- end -->

<!-- run: arena gate r
-->
<!-- end -->
"""


def answers(command: str) -> Ran:
    return Ran(int("gate" in command), TABLE)


def test_blocks_hold_the_command_and_what_is_quoted_of_its_output() -> None:
    assert (
        render(PAGE, answers)
        == """\
Text.

<!-- run: arena show r
columns: n, mode | mode
parts: Gap
lines: Gate; Gap
-->

```sh
arena show r
```

| n | mode |
| --- | --- |
| 12 | dense |

| mode |
| --- |
| dense |

```text
Gap: none
Gate passed

Gate passed
Gap: none
```

<!-- end -->

<!-- run: arena gate r
-->

```sh
arena gate r    # exit code 1
```

<!-- end -->
"""
    )


def test_a_page_written_twice_is_the_same() -> None:
    once = render(PAGE, answers)
    assert render(once, answers) == once


@pytest.mark.parametrize("broken", [PAGE.replace("<!-- end -->", "", 1), PAGE.replace("parts:", "part:")])
def test_a_block_of_another_form_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        render(broken, answers)
