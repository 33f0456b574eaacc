"""What does a COBOL source say?"""
