from django.db import migrations

INDEXES = {
    "standing_best_first": "value DESC NULLS LAST, run_id DESC",
    "standing_task_best_first": "task, value DESC NULLS LAST, run_id DESC",
    "standing_gain_first": "(value - baseline) DESC NULLS LAST, run_id DESC",
}


def make(apps, schema_editor):
    """Lists by score end with what is unscored. SQLite has no such index, and few rows."""
    if schema_editor.connection.vendor == "postgresql":
        for name, columns in INDEXES.items():
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON grading_taskstanding ({columns})")


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in INDEXES:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")


class Migration(migrations.Migration):

    dependencies = [
        ('grading', '0003_baseline_for_each_task'),
    ]

    operations = [migrations.RunPython(make, drop)]
