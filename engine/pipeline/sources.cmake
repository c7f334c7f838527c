target_sources(engine PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/one_f_one_b_run.cpp
  ${CMAKE_CURRENT_LIST_DIR}/order_span.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pipeline_bound.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pipeline_time.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_dualpipe.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_gpipe_1f1b.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_interleaved.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_zero_bubble.cpp
  ${CMAKE_CURRENT_LIST_DIR}/simulate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline_analysis.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline_detail.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline_memory.cpp
)
