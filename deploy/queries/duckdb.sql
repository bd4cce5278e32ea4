-- Views of an archive for the other queries; replace PLACE by its folder.
set timezone = 'UTC';
create macro get_json_object(document, path) as json_extract_string(document, path);
create macro unix_micros(moment) as epoch_us(moment);
create view entries as select * from read_parquet('PLACE/*/*/entries-*.parquet');
create view facts as select * from read_parquet('PLACE/*/*/facts-*.parquet', union_by_name = true);
create view objects as select * from read_parquet('PLACE/*/*/objects.parquet');
create view nodes as select * from read_parquet('PLACE/*/*/nodes.parquet');
create view words as select * from read_parquet('PLACE/*/*/words.parquet');
