# SPDX-License-Identifier: Apache-2.0
help:
	@echo soon
