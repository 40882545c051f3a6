"""No submission ever chose its GPU. The column stays, with a default of the database's own: workers of the version
before read and write it until they are replaced."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('grading', '0006_repeats'),
    ]

    operations = [
        migrations.AlterField(
            model_name='submission',
            name='gpu',
            field=models.CharField(blank=True, db_default='', max_length=16),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name='submission', name='gpu')],
        ),
    ]
