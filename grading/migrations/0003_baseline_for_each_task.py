import django.db.models.deletion
from django.db import migrations, models


def copy_over(apps, schema_editor):
    """Every run so far has one task, which its row leaves unnamed."""
    before, after = apps.get_model("grading", "BaselineOfRun"), apps.get_model("grading", "Baseline")
    rows = before.objects.values_list("run_id", "evaluation_id").order_by("run_id")
    batch = [after(run_id=run, evaluation_id=evaluation) for run, evaluation in rows.iterator()]
    after.objects.bulk_create(batch, batch_size=1000)


class Migration(migrations.Migration):

    dependencies = [
        ('benchmark', '0004_run_budgets'),
        ('grading', '0002_standing'),
    ]

    operations = [
        migrations.RenameModel(old_name='Baseline', new_name='BaselineOfRun'),
        migrations.AlterField(
            model_name='baselineofrun',
            name='evaluation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='grading.evaluation'),
        ),
        migrations.AlterField(
            model_name='baselineofrun',
            name='run',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='benchmark.run'),
        ),
        migrations.CreateModel(
            name='Baseline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.CharField(blank=True, max_length=64)),
                ('evaluation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='baselines', to='grading.evaluation')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='baselines', to='benchmark.run')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(fields=('run', 'task'), name='baseline_once')],
            },
        ),
        migrations.RunPython(copy_over, migrations.RunPython.noop),
        migrations.DeleteModel(name='BaselineOfRun'),
    ]
