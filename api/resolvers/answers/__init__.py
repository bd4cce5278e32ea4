"""Questions of the schema put to `recorder.answers`; answers in types.

No question is answered here: who wants to know why or what was hit asks the
report. What is here is paging, bounds, and the change of form.
"""
