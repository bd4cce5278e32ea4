-- Where a gap starts: on every stream, the proof that stands whatever comes.
alter table resume_point
  add column settled_until timestamptz,
  add column doubted_since timestamptz;
comment on column resume_point.settled_until is 'where a gap starts that opens now; null in logs that were written before there was this column';
comment on column resume_point.doubted_since is 'since when frames may be late; null while they come as they are made';
